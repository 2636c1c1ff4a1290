define void @solum.kernel.0(ptr noalias readonly align 16 %0, ptr noalias readonly align 8 %1, i64 %2, i64 %3, ptr align 64 %4) #0 {
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  %8 = alloca i64, align 8
  %9 = alloca i64, align 8
  %10 = alloca i64, align 8
  %11 = alloca i64, align 8
  %12 = alloca i64, align 8
  %13 = alloca <8 x i1>, align 1
  %14 = alloca <8 x i1>, align 1
  %15 = alloca <8 x ptr>, align 64
  %16 = alloca <8 x float>, align 64
  %17 = alloca <8 x ptr>, align 64
  %18 = alloca <8 x float>, align 64
  %19 = alloca <8 x ptr>, align 64
  %20 = alloca <8 x float>, align 64
  %21 = alloca <8 x ptr>, align 64
  %22 = alloca <8 x float>, align 64
  br label %23

23:
  %24 = load i32, ptr %1, align 4
  %25 = zext i32 %24 to i64
  %26 = getelementptr i8, ptr %1, i64 4
  %27 = load i32, ptr %26, align 4
  %28 = zext i32 %27 to i64
  %29 = getelementptr i8, ptr %1, i64 8
  %30 = load i32, ptr %29, align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr i8, ptr %1, i64 16
  %33 = load i32, ptr %32, align 4
  %34 = zext i32 %33 to i64
  %35 = getelementptr i8, ptr %1, i64 20
  %36 = load i32, ptr %35, align 4
  %37 = zext i32 %36 to i64
  %38 = getelementptr i8, ptr %1, i64 24
  %39 = load i32, ptr %38, align 4
  %40 = zext i32 %39 to i64
  %41 = getelementptr i8, ptr %1, i64 32
  %42 = load i64, ptr %41, align 8
  %43 = getelementptr i8, ptr %1, i64 40
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr i8, ptr %1, i64 48
  %46 = load i64, ptr %45, align 8
  %47 = getelementptr i8, ptr %1, i64 28
  %48 = load i32, ptr %47, align 4
  %49 = zext i32 %48 to i64
  %50 = getelementptr i8, ptr %1, i64 12
  %51 = load i32, ptr %50, align 4
  %52 = zext i32 %51 to i64
  %53 = getelementptr i8, ptr %1, i64 72
  %54 = load i64, ptr %53, align 8
  %55 = getelementptr i8, ptr %1, i64 56
  %56 = load i64, ptr %55, align 8
  %57 = getelementptr i8, ptr %4, i64 %56
  %58 = load ptr, ptr %0, align 8
  %59 = getelementptr i8, ptr %0, i64 8
  %60 = load i64, ptr %59, align 8
  %61 = getelementptr i8, ptr %4, i64 %60
  %62 = add i64 %2, %3
  %63 = getelementptr i8, ptr %1, i64 80
  %64 = load ptr, ptr %63, align 8
  store i8 0, ptr %6, align 1
  %65 = icmp eq ptr %64, null
  %66 = select i1 %65, ptr %6, ptr %64
  br label %67

67:
  %68 = phi i64 [ %2, %23 ], [ %85, %84 ]
  %69 = icmp ult i64 %68, %62
  br i1 %69, label %70, label %86

70:
  %71 = load atomic i8, ptr %66 monotonic, align 1
  %72 = icmp ne i8 %71, 0
  br i1 %72, label %86, label %73

73:
  %74 = udiv i64 %68, %34
  %75 = urem i64 %68, %34
  %76 = urem i64 %74, %37
  %77 = udiv i64 %74, %37
  %78 = mul i64 %75, %25
  %79 = add i64 %78, %42
  %80 = mul i64 %76, %28
  %81 = add i64 %80, %44
  %82 = mul i64 %77, %31
  %83 = add i64 %82, %46
  br label %87

84:
  %85 = add i64 %68, 1
  br label %67

86:
  ret void

87:
  %88 = and i64 %25, 7
  %89 = icmp eq i64 %88, 0
  br i1 %89, label %90, label %118

90:
  store i64 0, ptr %10, align 8
  store i64 0, ptr %11, align 8
  store i64 0, ptr %12, align 8
  br label %120

91:
  %92 = load i64, ptr %8, align 8
  %93 = insertelement <8 x i64> poison, i64 %92, i32 0
  %94 = shufflevector <8 x i64> %93, <8 x i64> poison, <8 x i32> zeroinitializer
  %95 = add <8 x i64> %94, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %96 = insertelement <8 x i64> poison, i64 %25, i32 0
  %97 = shufflevector <8 x i64> %96, <8 x i64> poison, <8 x i32> zeroinitializer
  %98 = insertelement <8 x i64> poison, i64 %28, i32 0
  %99 = shufflevector <8 x i64> %98, <8 x i64> poison, <8 x i32> zeroinitializer
  %100 = insertelement <8 x i64> poison, i64 %31, i32 0
  %101 = shufflevector <8 x i64> %100, <8 x i64> poison, <8 x i32> zeroinitializer
  %102 = uitofp <8 x i64> %95 to <8 x double>
  %103 = uitofp <8 x i64> %97 to <8 x double>
  %104 = fdiv <8 x double> %102, %103
  %105 = fptoui <8 x double> %104 to <8 x i64>
  %106 = mul <8 x i64> %105, %97
  %107 = sub <8 x i64> %95, %106
  %108 = uitofp <8 x i64> %105 to <8 x double>
  %109 = uitofp <8 x i64> %99 to <8 x double>
  %110 = fdiv <8 x double> %108, %109
  %111 = fptoui <8 x double> %110 to <8 x i64>
  %112 = mul <8 x i64> %111, %99
  %113 = sub <8 x i64> %105, %112
  %114 = insertelement <8 x i64> poison, i64 %49, i32 0
  %115 = shufflevector <8 x i64> %114, <8 x i64> poison, <8 x i32> zeroinitializer
  %116 = icmp ult <8 x i64> %95, %115
  store <8 x i1> zeroinitializer, ptr %14, align 1
  br label %169

117:
  br label %131

118:
  store i64 0, ptr %8, align 8
  store i64 %49, ptr %9, align 8
  br label %91

119:
  br label %84

120:
  %121 = load i64, ptr %10, align 8
  %122 = load i64, ptr %11, align 8
  %123 = load i64, ptr %12, align 8
  %124 = mul i64 %123, %28
  %125 = add i64 %124, %122
  %126 = mul i64 %125, %25
  %127 = add i64 %126, %121
  %128 = trunc i64 %121 to i32
  %129 = add i32 %128, 7
  %130 = icmp sge i32 %129, %128
  br i1 %130, label %141, label %135

131:
  %132 = load i64, ptr %10, align 8
  %133 = add i64 %132, 8
  store i64 %133, ptr %10, align 8
  %134 = icmp ult i64 %133, %25
  br i1 %134, label %120, label %137

135:
  store i64 %127, ptr %8, align 8
  %136 = add i64 %127, 8
  store i64 %136, ptr %9, align 8
  br label %91

137:
  store i64 0, ptr %10, align 8
  %138 = load i64, ptr %11, align 8
  %139 = add i64 %138, 1
  store i64 %139, ptr %11, align 8
  %140 = icmp ult i64 %139, %28
  br i1 %140, label %120, label %161

141:
  store <8 x i1> zeroinitializer, ptr %13, align 1
  br label %142

142:
  store <8 x i1> zeroinitializer, ptr %13, align 1
  %143 = insertelement <8 x i64> poison, i64 %121, i32 0
  %144 = shufflevector <8 x i64> %143, <8 x i64> poison, <8 x i32> zeroinitializer
  %145 = add <8 x i64> %144, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7>
  %146 = uitofp <8 x i64> %145 to <8 x float>
  %147 = mul i64 %121, 4
  %148 = getelementptr i8, ptr %61, i64 %147
  store <8 x float> %146, ptr %148, align 4
  %149 = trunc i64 %121 to i32
  %150 = sext i32 %149 to i64
  %151 = mul i64 %150, 4
  %152 = getelementptr i8, ptr %61, i64 %151
  %153 = load <8 x float>, ptr %152, align 4
  %154 = fmul <8 x float> %153, splat (float 2.000000e+00)
  %155 = add i64 %79, %121
  %156 = mul i64 %155, 4
  %157 = getelementptr i8, ptr %58, i64 %156
  %158 = load <8 x float>, ptr %157, align 4
  %159 = fmul <8 x float> %158, splat (float 2.000000e+00)
  %160 = fadd <8 x float> %154, %159
  store <8 x float> %160, ptr %157, align 4
  store i32 -1, ptr %7, align 4
  br label %131

161:
  store i64 0, ptr %11, align 8
  %162 = load i64, ptr %12, align 8
  %163 = add i64 %162, 1
  store i64 %163, ptr %12, align 8
  %164 = icmp ult i64 %163, %31
  br i1 %164, label %120, label %119

165:
  %166 = add i64 %92, 8
  store i64 %166, ptr %8, align 8
  %167 = load i64, ptr %9, align 8
  %168 = icmp ult i64 %166, %167
  br i1 %168, label %91, label %241

169:
  store <8 x i1> zeroinitializer, ptr %14, align 1
  %170 = uitofp <8 x i64> %107 to <8 x float>
  %171 = mul <8 x i64> %107, splat (i64 4)
  %172 = getelementptr i8, ptr %61, <8 x i64> %171
  store <8 x ptr> %172, ptr %15, align 64
  store <8 x float> %170, ptr %16, align 64
  %173 = bitcast <8 x i1> %116 to i8
  %174 = zext i8 %173 to i64
  br label %175

175:
  %176 = phi i64 [ %174, %169 ], [ %183, %175 ]
  %177 = call i64 @llvm.cttz.i64(i64 %176, i1 true)
  %178 = getelementptr ptr, ptr %15, i64 %177
  %179 = load ptr, ptr %178, align 1
  %180 = getelementptr float, ptr %16, i64 %177
  %181 = load float, ptr %180, align 1
  store float %181, ptr %179, align 4
  %182 = sub i64 %176, 1
  %183 = and i64 %176, %182
  %184 = icmp ne i64 %183, 0
  br i1 %184, label %175, label %185

185:
  %186 = trunc <8 x i64> %107 to <8 x i32>
  %187 = sext <8 x i32> %186 to <8 x i64>
  %188 = mul <8 x i64> %187, splat (i64 4)
  %189 = getelementptr i8, ptr %61, <8 x i64> %188
  store <8 x ptr> %189, ptr %17, align 64
  %190 = bitcast <8 x i1> %116 to i8
  %191 = zext i8 %190 to i64
  br label %192

192:
  %193 = phi i64 [ %191, %185 ], [ %200, %192 ]
  %194 = call i64 @llvm.cttz.i64(i64 %193, i1 true)
  %195 = getelementptr ptr, ptr %17, i64 %194
  %196 = load ptr, ptr %195, align 1
  %197 = load float, ptr %196, align 4
  %198 = getelementptr float, ptr %18, i64 %194
  store float %197, ptr %198, align 1
  %199 = sub i64 %193, 1
  %200 = and i64 %193, %199
  %201 = icmp ne i64 %200, 0
  br i1 %201, label %192, label %202

202:
  %203 = load <8 x float>, ptr %18, align 64
  %204 = freeze <8 x float> %203
  %205 = fmul <8 x float> %204, splat (float 2.000000e+00)
  %206 = insertelement <8 x i64> poison, i64 %79, i32 0
  %207 = shufflevector <8 x i64> %206, <8 x i64> poison, <8 x i32> zeroinitializer
  %208 = add <8 x i64> %207, %107
  %209 = mul <8 x i64> %208, splat (i64 4)
  %210 = getelementptr i8, ptr %58, <8 x i64> %209
  store <8 x ptr> %210, ptr %19, align 64
  %211 = bitcast <8 x i1> %116 to i8
  %212 = zext i8 %211 to i64
  br label %213

213:
  %214 = phi i64 [ %212, %202 ], [ %221, %213 ]
  %215 = call i64 @llvm.cttz.i64(i64 %214, i1 true)
  %216 = getelementptr ptr, ptr %19, i64 %215
  %217 = load ptr, ptr %216, align 1
  %218 = load float, ptr %217, align 4
  %219 = getelementptr float, ptr %20, i64 %215
  store float %218, ptr %219, align 1
  %220 = sub i64 %214, 1
  %221 = and i64 %214, %220
  %222 = icmp ne i64 %221, 0
  br i1 %222, label %213, label %223

223:
  %224 = load <8 x float>, ptr %20, align 64
  %225 = freeze <8 x float> %224
  %226 = fmul <8 x float> %225, splat (float 2.000000e+00)
  %227 = fadd <8 x float> %205, %226
  store <8 x ptr> %210, ptr %21, align 64
  store <8 x float> %227, ptr %22, align 64
  %228 = bitcast <8 x i1> %116 to i8
  %229 = zext i8 %228 to i64
  br label %230

230:
  %231 = phi i64 [ %229, %223 ], [ %238, %230 ]
  %232 = call i64 @llvm.cttz.i64(i64 %231, i1 true)
  %233 = getelementptr ptr, ptr %21, i64 %232
  %234 = load ptr, ptr %233, align 1
  %235 = getelementptr float, ptr %22, i64 %232
  %236 = load float, ptr %235, align 1
  store float %236, ptr %234, align 4
  %237 = sub i64 %231, 1
  %238 = and i64 %231, %237
  %239 = icmp ne i64 %238, 0
  br i1 %239, label %230, label %240

240:
  store i32 -1, ptr %7, align 4
  br label %165

241:
  br i1 %89, label %117, label %119
