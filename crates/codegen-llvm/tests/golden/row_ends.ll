define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca <8 x i1>, align 1
  %16 = alloca <8 x i1>, align 1
  %17 = alloca <8 x i1>, align 1
  %18 = alloca <8 x float>, align 32
  %19 = alloca i64, align 8
  %20 = alloca <8 x float>, align 32
  %21 = alloca <16 x i1>, align 2
  %22 = alloca <16 x i1>, align 2
  %23 = alloca <16 x i1>, align 2
  %24 = alloca <16 x float>, align 64
  %25 = alloca i64, align 8
  %26 = alloca <16 x float>, align 64
  %27 = alloca float, align 4
  %28 = alloca i64, align 8
  %29 = alloca float, align 4
  br label %30

30:
  %31 = load i32, ptr %1, align 4
  %32 = zext i32 %31 to i64
  %33 = getelementptr i8, ptr %1, i64 4
  %34 = load i32, ptr %33, align 4
  %35 = zext i32 %34 to i64
  %36 = getelementptr i8, ptr %1, i64 8
  %37 = load i32, ptr %36, align 4
  %38 = zext i32 %37 to i64
  %39 = getelementptr i8, ptr %1, i64 16
  %40 = load i32, ptr %39, align 4
  %41 = zext i32 %40 to i64
  %42 = getelementptr i8, ptr %1, i64 20
  %43 = load i32, ptr %42, align 4
  %44 = zext i32 %43 to i64
  %45 = getelementptr i8, ptr %1, i64 24
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr i8, ptr %1, i64 32
  %49 = load i64, ptr %48, align 8
  %50 = getelementptr i8, ptr %1, i64 40
  %51 = load i64, ptr %50, align 8
  %52 = getelementptr i8, ptr %1, i64 48
  %53 = load i64, ptr %52, align 8
  %54 = getelementptr i8, ptr %1, i64 28
  %55 = load i32, ptr %54, align 4
  %56 = zext i32 %55 to i64
  %57 = getelementptr i8, ptr %1, i64 12
  %58 = load i32, ptr %57, align 4
  %59 = zext i32 %58 to i64
  %60 = getelementptr i8, ptr %1, i64 72
  %61 = load i64, ptr %60, align 8
  %62 = getelementptr i8, ptr %1, i64 56
  %63 = load i64, ptr %62, align 8
  %64 = getelementptr i8, ptr %4, i64 %63
  %65 = load ptr, ptr %0, align 8
  %66 = getelementptr i8, ptr %0, i64 8
  %67 = load ptr, ptr %66, align 8
  %68 = add i64 %2, %3
  %69 = getelementptr i8, ptr %1, i64 80
  %70 = load ptr, ptr %69, align 8
  store i8 0, ptr %6, align 1
  %71 = icmp eq ptr %70, null
  %72 = select i1 %71, ptr %6, ptr %70
  br label %73

73:
  %74 = phi i64 [ %2, %30 ], [ %91, %90 ]
  %75 = icmp ult i64 %74, %68
  br i1 %75, label %76, label %92

76:
  %77 = load atomic i8, ptr %72 monotonic, align 1
  %78 = icmp ne i8 %77, 0
  br i1 %78, label %92, label %79

79:
  %80 = udiv i64 %74, %41
  %81 = urem i64 %74, %41
  %82 = urem i64 %80, %44
  %83 = udiv i64 %80, %44
  %84 = mul i64 %81, %32
  %85 = add i64 %84, %49
  %86 = mul i64 %82, %35
  %87 = add i64 %86, %51
  %88 = mul i64 %83, %38
  %89 = add i64 %88, %53
  br label %93

90:
  %91 = add i64 %74, 1
  br label %73

92:
  ret void

93:
  store i64 0, ptr %10, align 8
  br label %94

94:
  store i64 0, ptr %9, align 8
  store i64 0, ptr %14, align 8
  br label %95

95:
  store i64 0, ptr %8, align 8
  %96 = load i64, ptr %9, align 8
  %97 = load i64, ptr %10, align 8
  %98 = mul i64 %97, %35
  %99 = add i64 %98, %96
  %100 = mul i64 %99, %32
  %101 = add i64 %100, 0
  %102 = sub i64 %32, 1
  %103 = add i64 %87, %96
  %104 = trunc i64 %103 to i32
  %105 = shl i32 %104, 7
  %106 = add i64 %85, 0
  %107 = trunc i64 %106 to i32
  %108 = add i32 %105, %107
  %109 = mul i64 %102, 1
  %110 = sext i32 %108 to i64
  %111 = add i64 %110, %109
  %112 = trunc i64 %111 to i32
  %113 = sext i32 %112 to i64
  %114 = icmp eq i64 %111, %113
  br i1 %114, label %133, label %131

115:
  %116 = load i64, ptr %8, align 8
  %117 = sub i64 %32, %116
  %118 = icmp uge i64 %117, 16
  br i1 %118, label %134, label %147

119:
  br label %252

120:
  %121 = load i64, ptr %9, align 8
  %122 = add i64 %121, 1
  store i64 %122, ptr %9, align 8
  %123 = load i64, ptr %9, align 8
  %124 = icmp ult i64 %123, %35
  br i1 %124, label %95, label %125

125:
  %126 = load i64, ptr %10, align 8
  %127 = add i64 %126, 1
  store i64 %127, ptr %10, align 8
  %128 = load i64, ptr %10, align 8
  %129 = icmp ult i64 %128, %38
  br i1 %129, label %94, label %130

130:
  br label %90

131:
  %132 = load i64, ptr %8, align 8
  store i64 %132, ptr %11, align 8
  store i64 %32, ptr %12, align 8
  br label %119

133:
  br label %115

134:
  %135 = load i64, ptr %8, align 8
  %136 = load i64, ptr %9, align 8
  %137 = load i64, ptr %10, align 8
  %138 = mul i64 %137, %35
  %139 = add i64 %138, %136
  %140 = mul i64 %139, %32
  %141 = add i64 %140, %135
  store <16 x i1> zeroinitializer, ptr %21, align 2
  store <16 x i1> zeroinitializer, ptr %22, align 2
  store <16 x i1> zeroinitializer, ptr %23, align 2
  br label %208

142:
  %143 = load i64, ptr %8, align 8
  %144 = add i64 %143, 16
  store i64 %144, ptr %8, align 8
  %145 = load i64, ptr %8, align 8
  %146 = icmp ult i64 %145, %32
  br i1 %146, label %115, label %120

147:
  %148 = icmp uge i64 %117, 8
  br i1 %148, label %149, label %157

149:
  %150 = load i64, ptr %8, align 8
  %151 = load i64, ptr %9, align 8
  %152 = load i64, ptr %10, align 8
  %153 = mul i64 %152, %35
  %154 = add i64 %153, %151
  %155 = mul i64 %154, %32
  %156 = add i64 %155, %150
  store <8 x i1> zeroinitializer, ptr %15, align 1
  store <8 x i1> zeroinitializer, ptr %16, align 1
  store <8 x i1> zeroinitializer, ptr %17, align 1
  br label %164

157:
  %158 = load i64, ptr %8, align 8
  store i64 %158, ptr %11, align 8
  store i64 %32, ptr %12, align 8
  br label %119

159:
  %160 = load i64, ptr %8, align 8
  %161 = add i64 %160, 8
  store i64 %161, ptr %8, align 8
  %162 = load i64, ptr %8, align 8
  %163 = icmp ult i64 %162, %32
  br i1 %163, label %115, label %120

164:
  store <8 x i1> zeroinitializer, ptr %15, align 1
  %165 = add i64 %85, %150
  %166 = add i64 %87, %151
  %167 = trunc i64 %165 to i32
  %168 = trunc i64 %166 to i32
  %169 = shl i32 %168, 7
  %170 = add i32 %169, %167
  %171 = sext i32 %170 to i64
  store i64 %171, ptr %19, align 8
  %172 = mul i64 %171, 4
  %173 = getelementptr i8, ptr %65, i64 %172
  %174 = load <8 x float>, ptr %173, align 4
  store <8 x float> %174, ptr %20, align 32
  %175 = insertelement <8 x i32> poison, i32 %167, i32 0
  %176 = shufflevector <8 x i32> %175, <8 x i32> poison, <8 x i32> zeroinitializer
  %177 = add <8 x i32> %176, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7>
  %178 = icmp ne <8 x i32> %177, zeroinitializer
  %179 = xor <8 x i1> %178, splat (i1 true)
  %180 = load <8 x i1>, ptr %16, align 1
  %181 = or <8 x i1> %180, %178
  store <8 x i1> %181, ptr %16, align 1
  store <8 x float> %174, ptr %18, align 32
  %182 = load <8 x i1>, ptr %17, align 1
  %183 = or <8 x i1> %182, %179
  store <8 x i1> %183, ptr %17, align 1
  br label %202

184:
  %185 = load <8 x i1>, ptr %16, align 1
  store <8 x i1> zeroinitializer, ptr %16, align 1
  %186 = load i64, ptr %19, align 8
  %187 = mul i64 %186, 4
  %188 = getelementptr i8, ptr %65, i64 %187
  %189 = getelementptr i8, ptr %188, i64 -4
  %190 = call <8 x float> @llvm.masked.load.v8f32.p0(ptr %189, <8 x i1> %185, <8 x float> poison)
  %191 = load <8 x float>, ptr %20, align 32
  %192 = fadd <8 x float> %191, %190
  %193 = load <8 x float>, ptr %18, align 32
  %194 = select <8 x i1> %185, <8 x float> %192, <8 x float> %193
  store <8 x float> %194, ptr %18, align 32
  %195 = load <8 x i1>, ptr %17, align 1
  %196 = or <8 x i1> %195, %185
  store <8 x i1> %196, ptr %17, align 1
  br label %197

197:
  store <8 x i1> zeroinitializer, ptr %17, align 1
  %198 = load <8 x float>, ptr %18, align 32
  %199 = load i64, ptr %19, align 8
  %200 = mul i64 %199, 4
  %201 = getelementptr i8, ptr %67, i64 %200
  store <8 x float> %198, ptr %201, align 4
  store i32 -1, ptr %7, align 4
  br label %159

202:
  %203 = load <8 x i1>, ptr %16, align 1
  %204 = bitcast <8 x i1> %203 to i8
  %205 = icmp ne i8 %204, 0
  br i1 %205, label %206, label %207

206:
  br label %184

207:
  store <8 x i1> zeroinitializer, ptr %16, align 1
  br label %197

208:
  store <16 x i1> zeroinitializer, ptr %21, align 2
  %209 = add i64 %85, %135
  %210 = add i64 %87, %136
  %211 = trunc i64 %209 to i32
  %212 = trunc i64 %210 to i32
  %213 = shl i32 %212, 7
  %214 = add i32 %213, %211
  %215 = sext i32 %214 to i64
  store i64 %215, ptr %25, align 8
  %216 = mul i64 %215, 4
  %217 = getelementptr i8, ptr %65, i64 %216
  %218 = load <16 x float>, ptr %217, align 4
  store <16 x float> %218, ptr %26, align 64
  %219 = insertelement <16 x i32> poison, i32 %211, i32 0
  %220 = shufflevector <16 x i32> %219, <16 x i32> poison, <16 x i32> zeroinitializer
  %221 = add <16 x i32> %220, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %222 = icmp ne <16 x i32> %221, zeroinitializer
  %223 = xor <16 x i1> %222, splat (i1 true)
  %224 = load <16 x i1>, ptr %22, align 2
  %225 = or <16 x i1> %224, %222
  store <16 x i1> %225, ptr %22, align 2
  store <16 x float> %218, ptr %24, align 64
  %226 = load <16 x i1>, ptr %23, align 2
  %227 = or <16 x i1> %226, %223
  store <16 x i1> %227, ptr %23, align 2
  br label %246

228:
  %229 = load <16 x i1>, ptr %22, align 2
  store <16 x i1> zeroinitializer, ptr %22, align 2
  %230 = load i64, ptr %25, align 8
  %231 = mul i64 %230, 4
  %232 = getelementptr i8, ptr %65, i64 %231
  %233 = getelementptr i8, ptr %232, i64 -4
  %234 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %233, <16 x i1> %229, <16 x float> poison)
  %235 = load <16 x float>, ptr %26, align 64
  %236 = fadd <16 x float> %235, %234
  %237 = load <16 x float>, ptr %24, align 64
  %238 = select <16 x i1> %229, <16 x float> %236, <16 x float> %237
  store <16 x float> %238, ptr %24, align 64
  %239 = load <16 x i1>, ptr %23, align 2
  %240 = or <16 x i1> %239, %229
  store <16 x i1> %240, ptr %23, align 2
  br label %241

241:
  store <16 x i1> zeroinitializer, ptr %23, align 2
  %242 = load <16 x float>, ptr %24, align 64
  %243 = load i64, ptr %25, align 8
  %244 = mul i64 %243, 4
  %245 = getelementptr i8, ptr %67, i64 %244
  store <16 x float> %242, ptr %245, align 4
  store i32 -1, ptr %7, align 4
  br label %142

246:
  %247 = load <16 x i1>, ptr %22, align 2
  %248 = bitcast <16 x i1> %247 to i16
  %249 = icmp ne i16 %248, 0
  br i1 %249, label %250, label %251

250:
  br label %228

251:
  store <16 x i1> zeroinitializer, ptr %22, align 2
  br label %241

252:
  %253 = load i64, ptr %11, align 8
  %254 = load i64, ptr %9, align 8
  %255 = load i64, ptr %10, align 8
  %256 = mul i64 %255, %35
  %257 = add i64 %256, %254
  %258 = mul i64 %257, %32
  %259 = add i64 %258, %253
  br label %270

260:
  %261 = load i64, ptr %11, align 8
  %262 = add i64 %261, 1
  store i64 %262, ptr %11, align 8
  %263 = load i64, ptr %11, align 8
  %264 = load i64, ptr %12, align 8
  %265 = icmp ult i64 %263, %264
  br i1 %265, label %252, label %266

266:
  %267 = load i64, ptr %12, align 8
  store i64 %267, ptr %8, align 8
  %268 = load i64, ptr %12, align 8
  %269 = icmp ult i64 %268, %32
  br i1 %269, label %115, label %120

270:
  %271 = add i64 %85, %253
  %272 = add i64 %87, %254
  %273 = trunc i64 %271 to i32
  %274 = trunc i64 %272 to i32
  %275 = shl i32 %274, 7
  %276 = add i32 %275, %273
  %277 = sext i32 %276 to i64
  store i64 %277, ptr %28, align 8
  %278 = mul i64 %277, 4
  %279 = getelementptr i8, ptr %65, i64 %278
  %280 = load float, ptr %279, align 4
  store float %280, ptr %29, align 4
  %281 = icmp ne i32 %273, 0
  br i1 %281, label %295, label %296

282:
  %283 = load i64, ptr %28, align 8
  %284 = mul i64 %283, 4
  %285 = getelementptr i8, ptr %65, i64 %284
  %286 = getelementptr i8, ptr %285, i64 -4
  %287 = load float, ptr %286, align 4
  %288 = load float, ptr %29, align 4
  %289 = fadd float %288, %287
  store float %289, ptr %27, align 4
  br label %290

290:
  %291 = load float, ptr %27, align 4
  %292 = load i64, ptr %28, align 8
  %293 = mul i64 %292, 4
  %294 = getelementptr i8, ptr %67, i64 %293
  store float %291, ptr %294, align 4
  store i32 -1, ptr %7, align 4
  br label %260

295:
  br label %282

296:
  store float %280, ptr %27, align 4
  br label %290
