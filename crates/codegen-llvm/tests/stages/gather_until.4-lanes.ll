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
  %15 = alloca <16 x i1>, align 2
  %16 = alloca <16 x i1>, align 2
  %17 = alloca <16 x i1>, align 2
  %18 = alloca <16 x i1>, align 2
  %19 = alloca i32, align 4
  %20 = alloca <16 x i32>, align 64
  %21 = alloca <16 x i32>, align 64
  %22 = alloca i64, align 8
  %23 = alloca [64 x i8], align 64
  store [64 x i8] zeroinitializer, ptr %23, align 64
  %24 = alloca i32, align 4
  %25 = alloca i32, align 4
  %26 = alloca i32, align 4
  %27 = alloca i64, align 8
  br label %28

28:
  %29 = load i32, ptr %1, align 4
  %30 = zext i32 %29 to i64
  %31 = getelementptr i8, ptr %1, i64 4
  %32 = load i32, ptr %31, align 4
  %33 = zext i32 %32 to i64
  %34 = getelementptr i8, ptr %1, i64 8
  %35 = load i32, ptr %34, align 4
  %36 = zext i32 %35 to i64
  %37 = getelementptr i8, ptr %1, i64 16
  %38 = load i32, ptr %37, align 4
  %39 = zext i32 %38 to i64
  %40 = getelementptr i8, ptr %1, i64 20
  %41 = load i32, ptr %40, align 4
  %42 = zext i32 %41 to i64
  %43 = getelementptr i8, ptr %1, i64 24
  %44 = load i32, ptr %43, align 4
  %45 = zext i32 %44 to i64
  %46 = getelementptr i8, ptr %1, i64 32
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr i8, ptr %1, i64 40
  %49 = load i64, ptr %48, align 8
  %50 = getelementptr i8, ptr %1, i64 48
  %51 = load i64, ptr %50, align 8
  %52 = getelementptr i8, ptr %1, i64 28
  %53 = load i32, ptr %52, align 4
  %54 = zext i32 %53 to i64
  %55 = getelementptr i8, ptr %1, i64 12
  %56 = load i32, ptr %55, align 4
  %57 = zext i32 %56 to i64
  %58 = getelementptr i8, ptr %1, i64 72
  %59 = load i64, ptr %58, align 8
  %60 = getelementptr i8, ptr %1, i64 56
  %61 = load i64, ptr %60, align 8
  %62 = getelementptr i8, ptr %4, i64 %61
  %63 = load ptr, ptr %0, align 8
  %64 = getelementptr i8, ptr %0, i64 8
  %65 = load ptr, ptr %64, align 8
  %66 = getelementptr i8, ptr %0, i64 16
  %67 = load i32, ptr %66, align 4
  %68 = add i64 %2, %3
  %69 = getelementptr i8, ptr %1, i64 80
  %70 = load ptr, ptr %69, align 8
  store i8 0, ptr %6, align 1
  %71 = icmp eq ptr %70, null
  %72 = select i1 %71, ptr %6, ptr %70
  br label %73

73:
  %74 = phi i64 [ %2, %28 ], [ %91, %90 ]
  %75 = icmp ult i64 %74, %68
  br i1 %75, label %76, label %92

76:
  %77 = load atomic i8, ptr %72 monotonic, align 1
  %78 = icmp ne i8 %77, 0
  br i1 %78, label %92, label %79

79:
  %80 = udiv i64 %74, %39
  %81 = urem i64 %74, %39
  %82 = urem i64 %80, %42
  %83 = udiv i64 %80, %42
  %84 = mul i64 %81, %30
  %85 = add i64 %84, %47
  %86 = mul i64 %82, %33
  %87 = add i64 %86, %49
  %88 = mul i64 %83, %36
  %89 = add i64 %88, %51
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
  br label %96

96:
  %97 = load i64, ptr %8, align 8
  %98 = sub i64 %30, %97
  %99 = icmp uge i64 %98, 16
  br i1 %99, label %112, label %125

100:
  br label %243

101:
  %102 = load i64, ptr %9, align 8
  %103 = add i64 %102, 1
  store i64 %103, ptr %9, align 8
  %104 = load i64, ptr %9, align 8
  %105 = icmp ult i64 %104, %33
  br i1 %105, label %95, label %106

106:
  %107 = load i64, ptr %10, align 8
  %108 = add i64 %107, 1
  store i64 %108, ptr %10, align 8
  %109 = load i64, ptr %10, align 8
  %110 = icmp ult i64 %109, %36
  br i1 %110, label %94, label %111

111:
  br label %90

112:
  %113 = load i64, ptr %8, align 8
  %114 = load i64, ptr %9, align 8
  %115 = load i64, ptr %10, align 8
  %116 = mul i64 %115, %33
  %117 = add i64 %116, %114
  %118 = mul i64 %117, %30
  %119 = add i64 %118, %113
  store <16 x i1> zeroinitializer, ptr %15, align 2
  store <16 x i1> zeroinitializer, ptr %16, align 2
  store <16 x i1> zeroinitializer, ptr %17, align 2
  store <16 x i1> zeroinitializer, ptr %18, align 2
  store i32 poison, ptr %19, align 4
  br label %127

120:
  %121 = load i64, ptr %8, align 8
  %122 = add i64 %121, 16
  store i64 %122, ptr %8, align 8
  %123 = load i64, ptr %8, align 8
  %124 = icmp ult i64 %123, %30
  br i1 %124, label %96, label %101

125:
  %126 = load i64, ptr %8, align 8
  store i64 %126, ptr %11, align 8
  store i64 %30, ptr %12, align 8
  br label %100

127:
  store <16 x i1> zeroinitializer, ptr %15, align 2
  %128 = add i64 %85, %113
  store i64 %128, ptr %22, align 8
  %129 = trunc i64 %128 to i32
  %130 = insertelement <16 x i32> poison, i32 %67, i32 0
  %131 = shufflevector <16 x i32> %130, <16 x i32> poison, <16 x i32> zeroinitializer
  %132 = insertelement <16 x i32> poison, i32 %129, i32 0
  %133 = shufflevector <16 x i32> %132, <16 x i32> poison, <16 x i32> zeroinitializer
  %134 = add <16 x i32> %133, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %135 = icmp eq <16 x i32> %131, %134
  %136 = xor <16 x i1> %135, splat (i1 true)
  store <16 x i32> zeroinitializer, ptr %21, align 64
  %137 = load <16 x i1>, ptr %18, align 2
  %138 = or <16 x i1> %137, %135
  store <16 x i1> %138, ptr %18, align 2
  %139 = insertelement <16 x i32> poison, i32 %129, i32 0
  %140 = shufflevector <16 x i32> %139, <16 x i32> poison, <16 x i32> zeroinitializer
  %141 = add <16 x i32> %140, <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %142 = bitcast <16 x i1> %136 to i16
  %143 = icmp ne i16 %142, 0
  %144 = load i32, ptr %19, align 4
  %145 = select i1 %143, i32 0, i32 %144
  store i32 %145, ptr %19, align 4
  store <16 x i32> %141, ptr %20, align 64
  %146 = load <16 x i1>, ptr %16, align 2
  %147 = or <16 x i1> %146, %136
  store <16 x i1> %147, ptr %16, align 2
  br label %230

148:
  %149 = load <16 x i1>, ptr %16, align 2
  store <16 x i1> zeroinitializer, ptr %16, align 2
  %150 = load i32, ptr %19, align 4
  %151 = load <16 x i32>, ptr %20, align 64
  %152 = zext <16 x i32> %151 to <16 x i64>
  %153 = mul <16 x i64> %152, splat (i64 4)
  %154 = getelementptr i8, ptr %63, <16 x i64> %153
  %155 = insertelement <16 x ptr> poison, ptr %23, i32 0
  %156 = shufflevector <16 x ptr> %155, <16 x ptr> poison, <16 x i32> zeroinitializer
  %157 = select <16 x i1> %149, <16 x ptr> %154, <16 x ptr> %156
  %158 = extractelement <16 x ptr> %157, i32 0
  %159 = extractelement <16 x ptr> %157, i32 1
  %160 = extractelement <16 x ptr> %157, i32 2
  %161 = extractelement <16 x ptr> %157, i32 3
  %162 = extractelement <16 x ptr> %157, i32 4
  %163 = extractelement <16 x ptr> %157, i32 5
  %164 = extractelement <16 x ptr> %157, i32 6
  %165 = extractelement <16 x ptr> %157, i32 7
  %166 = extractelement <16 x ptr> %157, i32 8
  %167 = extractelement <16 x ptr> %157, i32 9
  %168 = extractelement <16 x ptr> %157, i32 10
  %169 = extractelement <16 x ptr> %157, i32 11
  %170 = extractelement <16 x ptr> %157, i32 12
  %171 = extractelement <16 x ptr> %157, i32 13
  %172 = extractelement <16 x ptr> %157, i32 14
  %173 = extractelement <16 x ptr> %157, i32 15
  %174 = load i32, ptr %158, align 4
  %175 = insertelement <16 x i32> poison, i32 %174, i32 0
  %176 = load i32, ptr %159, align 4
  %177 = insertelement <16 x i32> %175, i32 %176, i32 1
  %178 = load i32, ptr %160, align 4
  %179 = insertelement <16 x i32> %177, i32 %178, i32 2
  %180 = load i32, ptr %161, align 4
  %181 = insertelement <16 x i32> %179, i32 %180, i32 3
  %182 = load i32, ptr %162, align 4
  %183 = insertelement <16 x i32> %181, i32 %182, i32 4
  %184 = load i32, ptr %163, align 4
  %185 = insertelement <16 x i32> %183, i32 %184, i32 5
  %186 = load i32, ptr %164, align 4
  %187 = insertelement <16 x i32> %185, i32 %186, i32 6
  %188 = load i32, ptr %165, align 4
  %189 = insertelement <16 x i32> %187, i32 %188, i32 7
  %190 = load i32, ptr %166, align 4
  %191 = insertelement <16 x i32> %189, i32 %190, i32 8
  %192 = load i32, ptr %167, align 4
  %193 = insertelement <16 x i32> %191, i32 %192, i32 9
  %194 = load i32, ptr %168, align 4
  %195 = insertelement <16 x i32> %193, i32 %194, i32 10
  %196 = load i32, ptr %169, align 4
  %197 = insertelement <16 x i32> %195, i32 %196, i32 11
  %198 = load i32, ptr %170, align 4
  %199 = insertelement <16 x i32> %197, i32 %198, i32 12
  %200 = load i32, ptr %171, align 4
  %201 = insertelement <16 x i32> %199, i32 %200, i32 13
  %202 = load i32, ptr %172, align 4
  %203 = insertelement <16 x i32> %201, i32 %202, i32 14
  %204 = load i32, ptr %173, align 4
  %205 = insertelement <16 x i32> %203, i32 %204, i32 15
  %206 = add i32 %150, 1
  %207 = insertelement <16 x i32> poison, i32 %67, i32 0
  %208 = shufflevector <16 x i32> %207, <16 x i32> poison, <16 x i32> zeroinitializer
  %209 = icmp eq <16 x i32> %205, %208
  %210 = xor <16 x i1> %209, splat (i1 true)
  %211 = select <16 x i1> %149, <16 x i1> %209, <16 x i1> zeroinitializer
  %212 = select <16 x i1> %149, <16 x i1> %210, <16 x i1> zeroinitializer
  %213 = insertelement <16 x i32> poison, i32 %206, i32 0
  %214 = shufflevector <16 x i32> %213, <16 x i32> poison, <16 x i32> zeroinitializer
  %215 = load <16 x i32>, ptr %21, align 64
  %216 = select <16 x i1> %211, <16 x i32> %214, <16 x i32> %215
  store <16 x i32> %216, ptr %21, align 64
  %217 = load <16 x i1>, ptr %18, align 2
  %218 = or <16 x i1> %217, %211
  store <16 x i1> %218, ptr %18, align 2
  %219 = bitcast <16 x i1> %212 to i16
  %220 = icmp ne i16 %219, 0
  %221 = load i32, ptr %19, align 4
  %222 = select i1 %220, i32 %206, i32 %221
  store i32 %222, ptr %19, align 4
  store <16 x i32> %205, ptr %20, align 64
  %223 = load <16 x i1>, ptr %17, align 2
  %224 = or <16 x i1> %223, %212
  store <16 x i1> %224, ptr %17, align 2
  br label %236

225:
  store <16 x i1> zeroinitializer, ptr %18, align 2
  %226 = load <16 x i32>, ptr %21, align 64
  %227 = load i64, ptr %22, align 8
  %228 = mul i64 %227, 4
  %229 = getelementptr i8, ptr %65, i64 %228
  store <16 x i32> %226, ptr %229, align 4
  store i32 -1, ptr %7, align 4
  br label %120

230:
  %231 = load <16 x i1>, ptr %16, align 2
  %232 = bitcast <16 x i1> %231 to i16
  %233 = icmp ne i16 %232, 0
  br i1 %233, label %234, label %235

234:
  br label %148

235:
  store <16 x i1> zeroinitializer, ptr %16, align 2
  br label %225

236:
  %237 = load <16 x i1>, ptr %17, align 2
  %238 = bitcast <16 x i1> %237 to i16
  %239 = icmp ne i16 %238, 0
  br i1 %239, label %240, label %242

240:
  %241 = load <16 x i1>, ptr %17, align 2
  store <16 x i1> %241, ptr %16, align 2
  store <16 x i1> zeroinitializer, ptr %17, align 2
  br label %148

242:
  store <16 x i1> zeroinitializer, ptr %17, align 2
  br label %225

243:
  %244 = load i64, ptr %11, align 8
  %245 = load i64, ptr %9, align 8
  %246 = load i64, ptr %10, align 8
  %247 = mul i64 %246, %33
  %248 = add i64 %247, %245
  %249 = mul i64 %248, %30
  %250 = add i64 %249, %244
  br label %261

251:
  %252 = load i64, ptr %11, align 8
  %253 = add i64 %252, 1
  store i64 %253, ptr %11, align 8
  %254 = load i64, ptr %11, align 8
  %255 = load i64, ptr %12, align 8
  %256 = icmp ult i64 %254, %255
  br i1 %256, label %243, label %257

257:
  %258 = load i64, ptr %12, align 8
  store i64 %258, ptr %8, align 8
  %259 = load i64, ptr %12, align 8
  %260 = icmp ult i64 %259, %30
  br i1 %260, label %96, label %101

261:
  %262 = add i64 %85, %244
  store i64 %262, ptr %27, align 8
  %263 = trunc i64 %262 to i32
  %264 = icmp eq i32 %67, %263
  br i1 %264, label %279, label %280

265:
  %266 = load i32, ptr %24, align 4
  %267 = load i32, ptr %25, align 4
  %268 = zext i32 %267 to i64
  %269 = mul i64 %268, 4
  %270 = getelementptr i8, ptr %63, i64 %269
  %271 = load i32, ptr %270, align 4
  %272 = add i32 %266, 1
  %273 = icmp eq i32 %271, %67
  br i1 %273, label %281, label %282

274:
  %275 = load i32, ptr %26, align 4
  %276 = load i64, ptr %27, align 8
  %277 = mul i64 %276, 4
  %278 = getelementptr i8, ptr %65, i64 %277
  store i32 %275, ptr %278, align 4
  store i32 -1, ptr %7, align 4
  br label %251

279:
  store i32 0, ptr %26, align 4
  br label %274

280:
  store i32 0, ptr %24, align 4
  store i32 %263, ptr %25, align 4
  br label %265

281:
  store i32 %272, ptr %26, align 4
  br label %274

282:
  store i32 %272, ptr %24, align 4
  store i32 %271, ptr %25, align 4
  br label %265
